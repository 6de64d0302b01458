-- What viewers do not want and what they report, beside likes and saves. `reaction_counter` has neither:
-- feed pages don't ask for them.
alter table viewer_reaction drop constraint viewer_reaction_reaction_check;
alter table viewer_reaction add constraint viewer_reaction_reaction_check
  check (reaction in ('like', 'save', 'notInterested', 'report'));
