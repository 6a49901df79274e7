"""Reports: tables, figures, JUnit and Markdown."""
