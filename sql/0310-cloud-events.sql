-- Cloud events of cases, besides the notifications of the standard, and those that come in. An operator notices nothing, until
-- ENABLE_CLOUD_EVENTS is set.

alter table notificatie add column cloudevent text;
comment on column notificatie.cloudevent is 'Type of a cloud event, such as nl.overheid.zaken.zaak-gemuteerd; empty: it is a notification of the standard.';

create table ontvangen_event (
  bron text not null,
  id text not null,
  type text not null,
  uitkomst text not null,
  ontvangen_op timestamptz not null default now(),
  primary key (bron, id)
);
create index ontvangen_event_ontvangen_op on ontvangen_event (ontvangen_op);
comment on table ontvangen_event is 'Cloud events that came in and were acted on, so that each is acted on once. They are removed after NOTIFICATION_NUMBER_OF_DAYS_RETAINED.';
comment on column ontvangen_event.bron is 'Attribute source.';
comment on column ontvangen_event.id is 'Attribute id, unique within the source.';
comment on column ontvangen_event.type is 'Attribute type.';
comment on column ontvangen_event.uitkomst is 'uitgevoerd, or why nothing was done.';
comment on column ontvangen_event.ontvangen_op is 'When it came first.';
