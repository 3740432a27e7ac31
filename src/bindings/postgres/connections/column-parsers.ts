/** How columns become values: by the binding, or by the application. */
import type { Page, Row } from '../../shared/statements/page.ts';
import type { DriverClient } from '../driver.ts';
import type { SqlPage } from './server.ts';
import { getErrorMessage } from '../../../values/error-message.ts';

const INT8 = 20;
const DATE = 1082;

/**
 * Values that `pg` would return as something else: `bigint` as text, and a date as midnight of this
 * machine's time zone.
 */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: (text) => BigInt(text),
  [DATE]: (text) => text,
};

export type Parser = (value: never) => unknown;

/** Both formats of a text have the same bytes. */
export const OWN_PARSERS: Readonly<Record<'text' | 'raw', Parser>> = {
  text: String,
  raw: (value) => value,
};

/** A parser of the application has thrown. The server has not failed. */
export class ParserError extends Error {}

export function getApplicationParser(client: DriverClient, oid: number, format?: never): Parser {
  const own = PARSERS[oid] as Parser | undefined;
  if (own !== undefined) return own;
  const parser = client.getTypeParser(oid, format);
  return (value) => {
    try {
      return parser(value);
    } catch (cause) {
      const message = getErrorMessage(cause);
      throw new ParserError(message, { cause });
    }
  };
}

export function parsePage(
  client: DriverClient,
  { rows, changedRows, columnTypes = [] }: SqlPage,
): Page {
  const parsers = columnTypes.map(
    ([name, oid, format]) => [name, getApplicationParser(client, oid, format as never)] as const,
  );
  const parseRow = (row: Row): Row =>
    Object.fromEntries(
      parsers.map(([name, parser]) => {
        const value = row[name];
        return [name, value === null ? null : parser(value as never)];
      }),
    );
  return { rows: rows.map(parseRow), pageState: undefined, changedRows };
}
