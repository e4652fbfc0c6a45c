-- Two tabs of one session each get the message that is theirs: there is a list of them, by page. An operator notices nothing; a
-- message of the moment of the upgrade is lost.
update beheer_sessie set melding = null where melding is not null;
comment on column beheer_sessie.melding is 'What pages are to say next: a list, each with the path of its page, or * for the first page whatever it is.';
