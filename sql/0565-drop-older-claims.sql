-- breaks-older: yes
-- Functions that only workers of before 0410 call go: they were kept for a rolling upgrade, and nothing else calls them. A worker that
-- is that old would stop sending, so it stops altogether. An operator who comes from there stops the workers before the upgrade.
drop function claim_deliveries(integer, integer, integer, bigint[], bigint[], bigint[], uuid[]);
drop function claim_deliveries(integer, integer, integer, bigint[], bigint[], bigint[], bigint[], uuid[]);
drop function record_deliveries(bigint[], bigint[], integer[], text[], integer[], text[], integer[], double precision[], double precision[]);
