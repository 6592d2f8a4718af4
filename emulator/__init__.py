"""A local stand-in for Azure Monitor and a Teams webhook, for the demo and the tests.

It answers as Azure is documented and recorded to answer, unkind ways included, and imports
nothing of the program that it is used to test.
"""
