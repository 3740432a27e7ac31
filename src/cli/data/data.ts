/** `correctables data`: prints the rows of a site from its data directory, and changes nothing. */
import { resolve } from 'node:path';
import { integer } from '../../correctable/options.ts';
import type { ReadSite } from '../../server/node/commands/read-data.ts';
import type { StoredRow, StoredRows } from '../../server/node/commands/stored-rows.ts';
import { encodeValue } from '../../server/node/storage/format/value-text.ts';
import type { Service } from '../../server/service/service.ts';
import type { Command } from '../command.ts';
import { loadService } from './load-service.ts';
import { createUsageError, readNumber, readText, type RawOptions } from '../options.ts';
import { printLines, printWhileRead } from '../print.ts';
import { exitOnEndSignal } from '../worker-thread.ts';
import { alignColumns, formatRow, formatRows } from './format-rows.ts';

const DATA_DIR = '<dataDir>';
const TABLE = '<table>';
const KEY = '<key>';
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;
/** About how many characters are printed at once. */
const CHUNK_LENGTH = 64 * 1024;

/** What an action prints. */
interface DataRequest {
  readonly options: RawOptions;
  readonly site: string;
  readonly service: Service;
  readonly rows: StoredRows;
  /** The tables to print: the one that was named, or all. */
  readonly tables: readonly [string, ...string[]];
  readonly key: string;
  /** The maximum number of rows of a list. */
  readonly limit: number;
  close(): Promise<void>;
}

interface Action {
  readonly what: string;
  /** The words behind the directory. */
  readonly words: readonly (typeof TABLE | typeof KEY)[];
  /** Whether these words may be left out. */
  readonly isOptional?: true;
  /** The flags that the other actions do not take. */
  readonly flags?: readonly string[];
  run(request: DataRequest): Promise<void>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  tables: { what: 'Print the tables with their numbers of rows', words: [], run: printTables },
  list: {
    what: 'Print rows in the order of their keys',
    words: [TABLE],
    flags: ['limit', 'from'],
    run: listRows,
  },
  get: { what: 'Print one row in full', words: [TABLE, KEY], run: printRow },
  count: { what: 'Print the number of rows of a table', words: [TABLE], run: printCount },
  export: {
    what: 'Print all rows of a table, or of all tables, as JSON lines',
    words: [TABLE],
    isOptional: true,
    run: exportRows,
  },
};
const ACTION_NAMES = Object.keys(ACTIONS).join(', ');

export const DATA: Command = {
  name: 'data',
  summary: 'Print the rows in a data directory, also beside a running server; changes nothing',
  argument: {
    typed: `<action> ${DATA_DIR} ${TABLE} ${KEY}`,
    names: 'an action, a directory, a table and a key',
  },
  actions: Object.entries(ACTIONS).map(
    ([name, action]) => [formatUsage(name, action), action.what] as const,
  ),
  flags: [
    { typed: '--service <module>', text: 'The module of the service of the data' },
    { typed: '--site <name>', text: 'Read this site (default: the only one of the directory)' },
    {
      typed: '--limit <count>',
      text: `list: print at most this many rows (default: ${DEFAULT_LIMIT})`,
    },
    { typed: '--from <key>', text: 'list: begin at this key, or at the next one' },
    { typed: '--json', text: 'Print each table or row as one JSON line' },
  ],
  example: 'correctables data list correctables-data tickets --service shop.js',
  run: runAction,
};

function formatUsage(name: string, { words, isOptional }: Action): string {
  const shown = words.map((word) => (isOptional === true ? `[${word.slice(1, -1)}]` : word));
  return [name, DATA_DIR, ...shown].join(' ');
}

async function runAction(
  options: RawOptions,
  name = '',
  dataDir?: string,
  ...words: readonly (string | undefined)[]
): Promise<void> {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined)
    throw createUsageError('<action>', `must be one of ${ACTION_NAMES}, got "${name}"`);
  if (dataDir === undefined)
    throw createUsageError(
      DATA_DIR,
      `is required: name the directory, as in data ${name} correctables-data`,
    );
  checkWords(name, action, words);
  checkFlags(name, action, options);
  exitOnEndSignal();
  const request = await readRequest(options, resolve(dataDir), words);
  try {
    await action.run(request);
  } finally {
    await request.close();
  }
}

function checkWords(name: string, action: Action, words: readonly (string | undefined)[]): void {
  const usage = `data ${formatUsage(name, action)}`;
  const missing = action.isOptional === true ? undefined : action.words[words.length];
  if (missing !== undefined) {
    const advice = missing === TABLE ? '. See the tables with data tables' : '';
    throw createUsageError(missing, `is required: ${usage}${advice}`);
  }
  const extra = words.slice(action.words.length);
  if (extra.length > 0)
    throw createUsageError('<action>', `${name} takes no "${extra.join(' ')}": ${usage}`);
}

function checkFlags(name: string, action: Action, options: RawOptions): void {
  for (const [other, { flags = [] }] of Object.entries(ACTIONS)) {
    const flag = flags.find((item) => options[item] !== undefined);
    if (flag === undefined || action.flags?.includes(flag) === true) continue;
    throw createUsageError(flag, `is a flag of data ${other}, not of data ${name}: leave it out`);
  }
}

/** Reads the site. Wrong names are reported before its rows are read. */
async function readRequest(
  options: RawOptions,
  dataDir: string,
  [table, key]: readonly (string | undefined)[],
): Promise<DataRequest> {
  const { describeDataDirectory, readStoredSite } =
    await import('../../server/node/commands/read-data.ts');
  const limit = readLimit(options);
  const summary = describeDataDirectory(dataDir);
  const site = readSite(options, summary.sites);
  const path = readText(options, 'service', ': name the module, as in --service shop.js');
  const service = await loadService(path);
  const { name } = service.contract;
  if (name !== summary.service)
    throw createUsageError(
      'service',
      `names ${path}, which is the service '${name}', and the data in ${dataDir} is of '${summary.service}'. Name the module of that service, or another directory`,
    );
  const tables = readTables(service, table);
  const stored = await readStoredSite({ dataDir, site, service });
  noteUnproven(site, stored);
  return { ...stored, options, site, service, tables, key: key ?? '', limit };
}

function readLimit(options: RawOptions): number {
  if (options['limit'] === undefined) return DEFAULT_LIMIT;
  return readNumber(options, 'limit', integer({ max: MAX_LIMIT }));
}

function readSite(options: RawOptions, sites: readonly string[]): string {
  const [first = '', ...others] = sites;
  if (options['site'] === undefined && others.length === 0) return first;
  const all = sites.join(', ');
  const site = readText(options, 'site', `: the directory has the data of ${all}`);
  if (!sites.includes(site)) throw createUsageError('site', `must be one of ${all}, got "${site}"`);
  return site;
}

function readTables(
  { tables }: Service,
  table: string | undefined,
): readonly [string, ...string[]] {
  const names = Object.keys(tables) as [string, ...string[]];
  if (table === undefined) return names;
  if (!names.includes(table))
    throw createUsageError(TABLE, `must be one of ${names.join(', ')}, got "${table}"`);
  return [table];
}

/** Reports on stderr that the rows lack the end of a red log. */
function noteUnproven(site: string, { unprovenRecords }: ReadSite): void {
  if (unprovenRecords === 0) return;
  const lacking = `the rows of ${site} lack the last ${unprovenRecords} records of its red log, and what depends on them`;
  console.error(
    `note: ${lacking}. The files do not prove that a majority of the sites has these records. Ask a running site for the newest state.`,
  );
}

function printTables({ options, rows, tables }: DataRequest): Promise<void> {
  const counts = tables.map((table) => ({ table, rows: rows.count(table) }));
  return printLines(
    options['json'] === true
      ? counts.map((item) => JSON.stringify(item))
      : alignColumns([
          ['table', 'rows'],
          ...counts.map(({ table, rows: count }) => [table, String(count)]),
        ]),
  );
}

function printCount({ options, rows, tables: [table] }: DataRequest): Promise<void> {
  const count = rows.count(table);
  return printLines([
    options['json'] === true ? JSON.stringify({ table, rows: count }) : String(count),
  ]);
}

async function listRows(request: DataRequest): Promise<void> {
  const { options, site, service, rows, tables, limit } = request;
  const [table] = tables;
  const from = options['from'] === undefined ? undefined : readText(options, 'from');
  const shown: StoredRow[] = [];
  let next: string | undefined;
  for (const row of rows.scan(table, from)) {
    if (shown.length === limit) {
      next = row.key;
      break;
    }
    shown.push(row);
  }
  const total = rows.count(table);
  const more = next === undefined ? '' : `. Go on with --from ${quote(next)}, or use data export`;
  const summary = `${shown.length} of ${total} rows of ${table} at ${site}${more}`;
  if (options['json'] === true) {
    await printLines(shown.map((row) => encodeValue(row)));
    if (next !== undefined) console.error(`note: ${summary}`);
    return;
  }
  const fieldNames = Object.keys(service.tables[table]?.fields ?? {});
  await printLines([...formatRows(fieldNames, shown), summary]);
}

/** Quotes a key for a shell, if it needs that. */
function quote(key: string): string {
  return /^[\w./:@-]+$/.test(key) ? key : `'${key.replaceAll("'", String.raw`'\''`)}'`;
}

async function printRow({ options, site, rows, tables, key }: DataRequest): Promise<void> {
  const [table] = tables;
  const row = rows.get(table, key);
  if (row === undefined)
    throw new Error(`${KEY}: ${table} has no row "${key}" at ${site}. See its keys with data list`);
  await printLines(options['json'] === true ? [encodeValue(row)] : formatRow(row));
}

/** Prints chunks, and waits until each is written, so that a large table is never in one text. */
async function exportRows({ rows, tables }: DataRequest): Promise<void> {
  let lines: string[] = [];
  let length = 0;
  for (const table of tables)
    for (const { key, fields } of rows.scan(table)) {
      const line = encodeValue({ table, key, fields });
      lines.push(line);
      length += line.length;
      if (length < CHUNK_LENGTH) continue;
      if (!(await printWhileRead(lines))) return;
      lines = [];
      length = 0;
    }
  await printLines(lines);
}
