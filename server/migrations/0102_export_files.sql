-- Each attempt of an export writes a file of its own. The row names that of the attempt that runs or has
-- ended; null: one of a version that wrote all of them to `data`.
alter table data_export add column file_name text;
