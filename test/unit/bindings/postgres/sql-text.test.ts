/** Markers of SQL statements. */
import { expect, test } from 'vitest';
import {
  isOneTransaction,
  parseSql,
} from '../../../../src/bindings/postgres/statements/sql-text.ts';

test.each<[string, string, (string | undefined)[]]>([
  ['select :a, :b, :a', 'select $1, $2, $1', ['a', 'b']],
  ['select :a::int, now()::date', 'select $1::int, now()::date', ['a']],
  ["select ':a', 'it''s :b', E'\\' :c', :d", "select ':a', 'it''s :b', E'\\' :c', $1", ['d']],
  ['select ":a" from ":b""c" where x = :x', 'select ":a" from ":b""c" where x = $1', ['x']],
  ['do $$ begin :a end $$', 'do $$ begin :a end $$', []],
  ['do $f$ :a $$ :b $f$ :c', 'do $f$ :a $$ :b $f$ $1', ['c']],
  ['select 1 -- :a\n, :b', 'select 1 -- :a\n, $1', ['b']],
  ['select /* :a */ :b', 'select /* :a */ $1', ['b']],
  ['select a[1:2], x[lower:upper]', 'select a[1:2], x[lower:upper]', []],
  ['select $2, $1', 'select $2, $1', [undefined, undefined]],
  ['select x := 1', 'select x := 1', []],
])('%s', (sql, text, markers) => {
  expect(parseSql(sql)).toEqual({ text, markers });
});

// @rule REPL-4
test.each<[string, boolean]>([
  ["insert into t values ('a; b') returning id;", true],
  ['-- call\n/* do; */ with gone as (delete from t) select 1', true],
  ['Update t set x = 1', true],
  ['call pay(1)', false],
  ['do $$ begin commit; end $$', false],
  ['create index concurrently on t (x)', false],
  ['insert into t values (1); commit; insert into t values (2)', false],
])('%s is one transaction: %j', (sql, isOne) => {
  expect(isOneTransaction(sql)).toBe(isOne);
});
