-- The experiment that opened the layer of ranking experiments which run together: its id salts their
-- gate. Experiments that started before this column share the gate of their organization.
alter table experiment add column layer text;
