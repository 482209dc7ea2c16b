"""The web page of Paddock: its files, which every listener serves."""
