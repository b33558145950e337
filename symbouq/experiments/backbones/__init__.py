"""Small language models, either installed or trained on generated scenes."""
