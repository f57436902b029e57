"""Work that is not done while a page is made: where requests wait for it, slow steps, background jobs, what is done by the clock."""
