-- The account of the operating system that ran the command; for the actor `command_line` alone.

alter table audit_entry add column system_user_name text;
