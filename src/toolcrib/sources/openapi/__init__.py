"""An OpenAPI document as a source of tools: one tool per operation, its host fixed by the document and the operator."""
