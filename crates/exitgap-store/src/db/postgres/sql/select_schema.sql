-- What the schema is made of, a line each: tables, columns, constraints, indices, triggers, functions, and what
-- could stand in their way. The places of days' bodies are alike, and told as one: what is not of each of them, and of nothing
-- else, is told with how often it was found.
SELECT line FROM (
SELECT line || CASE
    WHEN line LIKE '%body\_N%' AND count(*) <> (
        SELECT count(*) FROM pg_catalog.pg_inherits WHERE inhparent = 'exitgap.body'::regclass
    ) THEN ' of ' || count(*) ELSE ''
END AS line
FROM (SELECT regexp_replace(line, '\mbody_[0-9]+', 'body_N', 'g') AS line FROM (
    SELECT format('schema owner %s', nspowner::regrole) AS line
    FROM pg_catalog.pg_namespace WHERE nspname = 'exitgap'
    UNION ALL
    SELECT format(
        'table %s %s %s%s%s%s', relname, relkind, relowner::regrole,
        CASE WHEN relhasrules THEN ' rules' END, CASE WHEN relrowsecurity THEN ' row security' END,
        CASE WHEN relpersistence <> 'p' THEN ' not durable' END
    )
    FROM pg_catalog.pg_class
    WHERE relnamespace = 'exitgap'::regnamespace AND relkind NOT IN ('i', 'I', 't')
    UNION ALL
    SELECT format(
        'column %s.%s %s%s%s%s', relname, attname, format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN ' not null' END,
        (SELECT ' collate ' || collname FROM pg_catalog.pg_collation
            WHERE pg_collation.oid = attcollation AND collname <> 'default'),
        (SELECT ' default ' || pg_get_expr(adbin, adrelid) FROM pg_catalog.pg_attrdef
            WHERE adrelid = attrelid AND adnum = attnum)
    )
    FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'exitgap'::regnamespace AND relkind NOT IN ('i', 'I', 't')
        AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT format(
        'partition %s of %s: of its day %s', relname, inhparent::regclass,
        pg_get_expr(relpartbound, oid) = format(
            'FOR VALUES FROM (''%s'') TO (''%s'')',
            288 * substring(relname FROM '^body_([0-9]+)$')::bigint,
            288 * substring(relname FROM '^body_([0-9]+)$')::bigint + 288
        )
    )
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_inherits ON inhrelid = oid
    WHERE relnamespace = 'exitgap'::regnamespace AND relkind NOT IN ('i', 'I')
    UNION ALL
    SELECT format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
    FROM pg_catalog.pg_constraint
    WHERE connamespace = 'exitgap'::regnamespace AND contype <> 'n'
    UNION ALL
    SELECT format('index %s %s', relname, pg_get_indexdef(indexrelid))
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'exitgap'::regnamespace AND indisvalid
    UNION ALL
    SELECT format(
        'trigger %s of %s %s %s %s %s%s', tgname, tgrelid::regclass, tgenabled, tgtype, tgfoid::regproc, tgattr,
        CASE WHEN tgqual IS NOT NULL THEN ' when' END
    ) || ' ' || encode(tgargs, 'escape')
    FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = 'exitgap'::regnamespace AND NOT tgisinternal
    UNION ALL
    SELECT format(
        'function %s %s %s %s %s%s', pg_proc.oid::regprocedure, encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'),
        lanname, proowner::regrole, proconfig, CASE WHEN prosecdef THEN ' as its owner' END
    )
    FROM pg_catalog.pg_proc JOIN pg_catalog.pg_language ON pg_language.oid = prolang
    WHERE pronamespace = 'exitgap'::regnamespace
) AS lines) AS lines
GROUP BY lines.line
) AS lines
ORDER BY line COLLATE "C";
