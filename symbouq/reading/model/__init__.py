"""Read texts with a language model: make the requests and judge the replies."""
