SELECT no, rule, run, state, ended IS NOT NULL AS over FROM alert WHERE changed > :mark ORDER BY changed, no;
