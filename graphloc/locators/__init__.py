"""graphloc as the locator of other programs: in Python, over MCP, by function calling.

`graphloc.locators.locator.Locator` is the face for Python, and the only public one besides the
command line. `tools` defines once what a model may call; `mcp_server` serves that to agents,
`schemas` prints it for function calling.
"""
