"""Read texts with a language model: compose the requests and judge the replies."""
