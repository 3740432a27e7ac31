/** The markers and the statements of SQL text, as SQLite writes them. */
import { expect, test } from 'vitest';
import { parseSql, splitStatements } from '../../../../src/bindings/d1/sql-text.ts';
import { defineStatements, oneRow, rows } from '../../../../src/bindings/d1/index.ts';
import * as z from 'zod';

test.each([
  ['select :a, :b, :a', 'select ?1, ?2, ?1', ['a', 'b']],
  ['select ?, :a, ?', 'select ?1, ?2, ?3', [undefined, 'a', undefined]],
  ['select ?2', 'select ?2', [undefined, undefined]],
  [`select ':a', ":a", \`:a\`, [:a], '?'`, `select ':a', ":a", \`:a\`, [:a], '?'`, []],
  ['select 1 -- :a ?\n, :b /* :c */', 'select 1 -- :a ?\n, ?1 /* :c */', ['b']],
])('the markers of %s', (sql, text, markers) => {
  expect(parseSql(sql)).toEqual({ text, markers });
});

test('the statements of a text, each with the values that it takes', () => {
  const text = `update t set a = ?2 where b = ';?9'; -- no; ?8\n insert into t values (?1);; /* end */ `;
  expect(splitStatements(text)).toEqual([
    { text: `update t set a = ?2 where b = ';?9'`, valueCount: 2 },
    { text: '-- no; ?8\n insert into t values (?1)', valueCount: 1 },
  ]);
});

const args = z.object({});
const result = rows((row) => row);

test.each([
  "select 'delete', replace(a, b, c) from t",
  'with a as (select 1) select * from a;',
  'values (1)',
  'select "update" from t',
])('a read may be: %s', (sql) => {
  expect(() => defineStatements({ a: { access: 'read', sql, args, result } })).not.toThrow();
});

test.each([
  'delete from t returning k',
  'with a as (select 1) insert into t select * from a returning k',
  'select 1; select 2',
  'replace into t values (1)',
  'pragma foreign_keys',
])('a read must not be: %s', (sql) => {
  const define = (): unknown => defineStatements({ a: { access: 'read', sql, args, result } });
  expect(define).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'a.sql' }));
});

test('a write has no begin and commit', () => {
  const sql = 'begin; delete from t; commit';
  const define = (): unknown =>
    defineStatements({ a: { access: 'write', sql, args, result: oneRow((row) => row) } });
  expect(define).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'a.sql' }));
});
