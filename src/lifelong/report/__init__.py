"""Reports: tables and figures from measured errors alone."""
