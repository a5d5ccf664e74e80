"""Members of a request that are never options."""

RESERVED = frozenset(
    {
        "chat_template",
        "conversation",
        "documents",
        "functions",
        "input",
        "instructions",
        "messages",
        "model",
        "previous_response_id",
        "prompt",
        "stream",
        "stream_options",
        "system",
        "tools",
    }
)
"""What is sent to the model, under the names that endpoints have for it, and how it is transported.

An option of such a name would go past the context builder.
"""
