"""The model checker: every small loop, every order and kind of outcome, and what must hold in every state."""
