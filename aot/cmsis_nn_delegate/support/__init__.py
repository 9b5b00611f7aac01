"""What any part of the compiler may use: errors, arguments, documents, numbers, and the process itself."""
