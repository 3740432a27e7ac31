/** Checks of what is given to `defineService`, but for those that go by what its contract says. */
import { check } from '../../correctable/errors.ts';
import { checkMemberName, checkNamed, checkRecord, isRecord } from '../../correctable/given.ts';

const CALL = 'defineService(contract, { tables, shadowOperations: ({ accounts }) => ({ … }), generators: { … } })';

/** @throws CorrectableError `INVALID_ARGUMENT` naming the part that does not fit */
export function checkImplementation(contract: unknown, given: unknown, parts: Readonly<Record<string, true>>): void {
  const isContract = isRecord(contract) && isRecord(contract['operations']);
  check(isContract, 'contract', `must be one made by defineContract: write ${CALL}`);
  checkRecord(given, { call: CALL, field: 'implementation' });
  checkNamed(given, { call: CALL }, parts);
  const { tables, shadowOperations, generators, alwaysRed = [] } = given as Readonly<Record<string, unknown>>;
  checkRecord(tables, { call: '{ tables: { accounts: table({ balance: counter() }) } }', field: 'tables' });
  for (const [name, table] of Object.entries(tables as object) as [string, unknown][]) {
    checkMemberName(name, `tables.${name}`);
    const isTable = isRecord(table) && isRecord(table['fields']);
    check(isTable, `tables.${name}`, 'must be made by table, as table({ balance: counter() })');
  }
  const isFunction = typeof shadowOperations === 'function';
  check(isFunction, 'shadowOperations', 'must be a function, as ({ accounts }) => ({ deposit: blue(…) })');
  checkRecord(generators, { call: '{ generators: { deposit: (args, { shadow }) => … } }', field: 'generators' });
  for (const [name, generator] of Object.entries(generators as object) as [string, unknown][]) {
    check(typeof generator === 'function', `generators.${name}`, 'must be a function, as (args, { shadow }) => …');
  }
  check(Array.isArray(alwaysRed), 'alwaysRed', "must be a list of names, as ['dequeue']");
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the one that none of `blue`, `red` and `shadow` made */
export function checkShadowOperations(given: unknown): void {
  checkRecord(given, { call: '({ accounts }) => ({ deposit: blue(…) })', field: 'shadowOperations' });
  for (const [name, operation] of Object.entries(given as object) as [string, unknown][]) {
    checkMemberName(name, `shadowOperations.${name}`);
    const isShadow = isRecord(operation) && typeof operation['effects'] === 'function';
    check(isShadow, `shadowOperations.${name}`, 'must be made by blue, red or shadow');
  }
}
