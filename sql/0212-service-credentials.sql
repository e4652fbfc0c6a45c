-- Services elsewhere that give out tokens (OAuth2 client credentials), that ask for a client certificate, or whose certificate
-- is of a CA of their own. Nothing changes for the services that there are.

alter table dienst
  add column token_url text not null default '',
  add column token_scope text not null default '',
  add column certificaat text not null default '',
  add column certificaat_sleutel bytea,
  add column ca text not null default '',
  drop constraint dienst_authenticatie_check,
  add constraint dienst_authenticatie_check check (authenticatie in ('geen', 'zgw', 'api_key', 'oauth2')),
  drop constraint dienst_authenticatie_volledig,
  add constraint dienst_authenticatie_volledig check (case authenticatie
    when 'zgw' then client_id <> '' and geheim is not null
    when 'api_key' then header <> '' and geheim is not null
    when 'oauth2' then client_id <> '' and token_url <> '' and geheim is not null
    else geheim is null end),
  add constraint dienst_certificaat_volledig check ((certificaat <> '') = (certificaat_sleutel is not null));
comment on column dienst.authenticatie is 'How we identify ourselves: geen, zgw (a JWT of our own), api_key (a header) or oauth2 (client credentials).';
comment on column dienst.client_id is 'Our client id there (zgw, oauth2).';
comment on column dienst.geheim is 'Secret (zgw, oauth2) or key (api_key), encrypted with SECRET_KEY.';
comment on column dienst.token_url is 'Where a token is asked (oauth2).';
comment on column dienst.token_scope is 'Scope that is asked for (oauth2).';
comment on column dienst.certificaat is 'Client certificate that we show (PEM); empty: none.';
comment on column dienst.certificaat_sleutel is 'Private key of that certificate (PEM); encrypted with SECRET_KEY.';
comment on column dienst.ca is 'Certificates that vouch for the service, instead of the usual ones (PEM); empty: the usual ones.';
