"""Files of questions that other systems write and read: each is read into an `Imported`, which becomes the document of a bank."""
