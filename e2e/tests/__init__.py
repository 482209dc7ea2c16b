"""The tests, in folders by subject."""
