"""The MCP server: an agent's client sees and steers loops, but decides nothing that only a person decides."""
