"""Small language models: installed, or trained on generated scenes."""
