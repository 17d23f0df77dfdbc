-- What whoever records may do: read all, add to all, and change what is not recorded.
REVOKE ALL ON SCHEMA exitgap FROM PUBLIC;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA exitgap FROM PUBLIC;
GRANT USAGE ON SCHEMA exitgap TO {recorder};
GRANT SELECT ON ALL TABLES IN SCHEMA exitgap TO {recorder};
GRANT INSERT ON
    exitgap.pool, exitgap.body, exitgap.log, exitgap.log_key, exitgap.predecessor, exitgap.entry,
    exitgap.retraction, exitgap.fills, exitgap.issued, exitgap.retirement, exitgap.doubt,
    exitgap.log_node, exitgap.sealed_slot, exitgap.slot_tile, exitgap.cosigning, exitgap.cosigned
TO {recorder};
GRANT INSERT, DELETE ON exitgap.claim, exitgap.claim_file TO {recorder};
GRANT UPDATE (owner, epoch, until) ON exitgap.sealer TO {recorder};
GRANT INSERT, UPDATE, DELETE ON exitgap.attending TO {recorder};
GRANT INSERT, UPDATE (owner, epoch, until) ON exitgap.shard TO {recorder};
GRANT UPDATE (slot) ON exitgap.frozen TO {recorder};
GRANT INSERT, DELETE ON exitgap.reading TO {recorder};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA exitgap TO {recorder};
REVOKE EXECUTE ON FUNCTION exitgap.leave_day(bigint, text, text) FROM {recorder};
GRANT UPDATE (default_base_token) ON exitgap.pool TO {recorder};
GRANT INSERT, UPDATE, DELETE ON
    exitgap.figures, exitgap.week, exitgap.day, exitgap.standing, exitgap.recheck, exitgap.suspicion
TO {recorder};
