/** Whether an effect is one that a service can apply: a site that tried any other would end. */
import type { Effect } from '../records/effect.ts';
import type { Choice } from '../records/reply.ts';
import type { FieldKind } from './fields/field.ts';
import { isRedAction } from './fields/field.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import { isRemoval, isWholeRow } from './row-effects.ts';
import type { Tables } from './tables.ts';

/** What is known of a table. */
interface KnownTable {
  readonly removable: boolean;
  readonly hasRed: boolean;
  readonly fields: ReadonlyMap<string, FieldKind>;
}

const INSERT = 'insert';

/** The effects that there are on the tables of a service. */
export class KnownEffects {
  readonly #tables: ReadonlyMap<string, KnownTable>;

  constructor(tables: Tables) {
    this.#tables = new Map(
      Object.entries(tables).map(([name, { fields, removable }]) => {
        const kinds = Object.entries(fields).map(([field, { kind }]) => [field, FIELD_KINDS[kind]] as const);
        return [name, { removable, hasRed: kinds.some(([, { redOnly }]) => redOnly), fields: new Map(kinds) }];
      }),
    );
  }

  /**
   * The same of what a generator has chosen: its author may have made effects by hand. What sites do by themselves in their
   * own streams is not his.
   */
  problemOfChosen(effect: Effect, { colour }: Pick<Choice, 'colour'>): string | undefined {
    const { table, field, action } = effect;
    const kind = this.#tables.get(table)?.fields.get(field);
    if (kind?.ownActions?.includes(action) && !isRedAction(kind, action)) {
      return `only sites themselves have the '${action}' of '${table}.${field}'`;
    }
    return this.problemOf(effect, colour === 'red');
  }

  /**
   * What is wrong with an effect that comes from elsewhere, in words; `undefined` where nothing is.
   *
   * @param isRed whether it comes of a red operation: what goes by the red order alone no other may change
   */
  problemOf(effect: Effect, isRed: boolean): string | undefined {
    const { table, field, action, value } = effect;
    const known = this.#tables.get(table);
    if (known === undefined) return `it changes the table '${table}', which this service does not have`;
    if (isWholeRow(effect)) return rowProblem(effect, known, isRed);
    const kind = known.fields.get(field);
    if (kind === undefined) return `it changes the field '${table}.${field}', which this service does not have`;
    const hasAction = Object.hasOwn(kind.effects, action) || kind.ownActions?.includes(action) === true;
    if (!hasAction) return `'${table}.${field}' is a ${kind.name}, which has no '${action}'`;
    if (kind.redOnly && !isRed) return `it is blue and changes '${table}.${field}', which only red ones may`;
    if (isRedAction(kind, action) && !isRed) {
      return `it is blue and has the '${action}' of '${table}.${field}', which only red ones may`;
    }
    if (kind.takes?.(action, value) === false) return `'${table}.${field}' is a ${kind.name}, and not for that value`;
    return undefined;
  }
}

function rowProblem(effect: Effect, { removable, hasRed }: KnownTable, isRed: boolean): string | undefined {
  const { table, action } = effect;
  if (!isRemoval(effect)) return action === INSERT ? undefined : `rows of '${table}' have no '${action}'`;
  if (!removable) return `it removes a row of '${table}', whose rows stay`;
  return hasRed && !isRed ? `it is blue and removes a row of '${table}', which only red ones may` : undefined;
}
