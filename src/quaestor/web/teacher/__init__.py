"""What all pages for a signed-in teacher share: who is signed in, what their forms hold, downloads, how far their jobs are."""
