-- The next migration's number is taken by another change; this one changes nothing.
SELECT 1;
