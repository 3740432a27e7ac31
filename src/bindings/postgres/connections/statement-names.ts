/** Names of prepared statements. */
import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/** Names are short, because PostgreSQL cuts long ones. */
export function getStatementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createName(text);
    names.set(text, name);
  }
  return name;
}

/**
 * Gives a statement another name, so that each connection prepares it again: a migration has
 * changed the columns that it returns, or another program has removed it from a connection.
 *
 * @param name the one that no longer works
 */
export function renameStatement(text: string, name: string): void {
  if (names.get(text) !== name) return; // Another connection was first.
  const [, number = '1'] = /_(\d+)$/.exec(name) ?? [];
  names.set(text, `${createName(text)}_${Number(number) + 1}`);
}

function createName(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return `correctables_${hash.slice(0, 24)}`;
}
