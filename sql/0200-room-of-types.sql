-- A catalogue and a zaaktype hold no more than an answer that names all of it: 25,000 versions of types of a kind, and 1,000
-- parts of a kind. Whatever there is stays. Nobody notices: what is there is far below it.

create function heeft_ruimte() returns trigger language plpgsql as $$
declare
  vol boolean;
begin
  execute format('select exists (select from %I b where b.%I = ($1).%I offset %s)', tg_table_name, tg_argv[0], tg_argv[0],
    tg_argv[1]::integer - 1) into vol using new;
  if vol then
    raise exception '% has as many rows as there may be', tg_table_name using errcode = '23514', constraint = 'heeft_ruimte';
  end if;
  return new;
end $$;

create trigger statustype_heeft_ruimte before insert on statustype for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger resultaattype_heeft_ruimte before insert on resultaattype for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger eigenschap_heeft_ruimte before insert on eigenschap for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger roltype_heeft_ruimte before insert on roltype for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger zaakobjecttype_heeft_ruimte before insert on zaakobjecttype for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger zaaktype_informatieobjecttype_heeft_ruimte before insert on zaaktype_informatieobjecttype
  for each row execute function heeft_ruimte('zaaktype_id', '1000');
create trigger zaaktype_heeft_ruimte before insert on zaaktype for each row execute function heeft_ruimte('catalogus_id', '25000');
create trigger informatieobjecttype_heeft_ruimte before insert on informatieobjecttype
  for each row execute function heeft_ruimte('catalogus_id', '25000');
create trigger besluittype_heeft_ruimte before insert on besluittype for each row execute function heeft_ruimte('catalogus_id', '25000');
