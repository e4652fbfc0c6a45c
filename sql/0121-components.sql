-- Rights in components of other services (klanten, contactmomenten, verzoeken) may stand in applicaties, as servers in use
-- allow. They open nothing here.
alter table autorisatie drop constraint autorisatie_component_check;
alter table autorisatie add constraint autorisatie_component_check
  check (component in ('ac', 'nrc', 'zrc', 'ztc', 'drc', 'brc', 'kc', 'cmc', 'vrc')) not valid;
alter table autorisatie validate constraint autorisatie_component_check;
comment on column autorisatie.component is 'ac, nrc, zrc, ztc, drc, brc, kc, cmc or vrc.';
