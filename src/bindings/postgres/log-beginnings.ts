/**
 * Where the log of each timeline began. A primary that was restarted in an orderly way no longer
 * reports that, but this process may have seen it before.
 */
import { toBytes, type PostgresPosition } from './position.ts';

export class LogBeginnings {
  readonly #byLog = new Map<string, string>();

  /** Keeps the first one: a timeline begins again at each crash of its primary. */
  note(position: PostgresPosition | undefined): void {
    if (position?.began === undefined) return;
    const known = this.find(position);
    const isFirst = known === undefined || toBytes(position.began) < toBytes(known);
    if (isFirst) this.#byLog.set(nameLog(position), position.began);
  }

  find(position: PostgresPosition): string | undefined {
    return this.#byLog.get(nameLog(position));
  }
}

function nameLog({ system, timeline }: PostgresPosition): string {
  return `${system}/${timeline}`;
}
