"""What operators make their own: a folder with colours, a logo, pages and a picture, read once at the start."""
