/** Numbers the markers of an SQL statement. */
import type { ParsedText } from './statement-catalog.ts';

/** Returns one pattern that matches any of the tokens. */
export function toTokenPattern(tokens: readonly RegExp[], flags: string = 'g'): RegExp {
  return new RegExp(tokens.map(({ source }) => source).join('|'), flags);
}

export interface MarkerSyntax {
  /**
   * Matches texts without markers, and markers. The group `name` has the name of a marker, the
   * group `position` its number, or nothing for the next one.
   */
  readonly tokens: RegExp;
  /** The sign before the number of a marker. */
  readonly sign: '$' | '?';
}

interface MarkerGroups {
  readonly name?: string | undefined;
  readonly position?: string | undefined;
}

/**
 * Returns the statement with numbers for its markers, and their names. Markers of one name are one
 * parameter.
 */
export function numberMarkers(sql: string, { tokens, sign }: MarkerSyntax): ParsedText {
  const markers: (string | undefined)[] = [];
  const text = sql.replace(tokens, (token: string, ...match: unknown[]) => {
    const { name, position } = match.at(-1) as MarkerGroups;
    if (position === '') return `${sign}${markers.push(undefined)}`;
    if (position !== undefined) {
      while (markers.length < Number(position)) markers.push(undefined);
      return token;
    }
    if (name === undefined) return token;
    if (!markers.includes(name)) markers.push(name);
    return `${sign}${markers.indexOf(name) + 1}`;
  });
  return { text, markers };
}
