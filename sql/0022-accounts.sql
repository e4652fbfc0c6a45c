-- An account is bound to somebody at a provider by an invitation, and by no name that he chose himself.
alter table beheer_account
  add column invitation bytea,
  add column invited_until timestamptz,
  add constraint beheer_account_invitation_complete check ((invitation is null) = (invited_until is null));
create unique index beheer_account_invitation on beheer_account (invitation) where invitation is not null;
comment on column beheer_account.invitation is 'SHA-256 of the code in the link that binds the account to who signs in with it; used once.';
comment on column beheer_account.invited_until is 'Until when that link counts.';

-- Providers that were given before keep the address that is registered with them, until somebody changes it on both sides.
alter table oidc_provider add column has_own_return boolean not null default false;
comment on column oidc_provider.has_own_return is 'Whether its answers come to an address of its own, so that none of another provider is taken for it.';
