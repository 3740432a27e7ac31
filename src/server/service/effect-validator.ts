/**
 * Decides whether a service can apply an effect. A site that applied any other effect would stop.
 */
import { type Effect, isRemoval, isWholeRow, WHOLE_ROW } from './records/effect.ts';
import type { FieldKind } from './fields/field.ts';
import { FIELD_KINDS } from './fields/field-kinds.ts';
import type { Tables } from './tables.ts';

interface KnownTable {
  readonly removable: boolean;
  /** Whether one of its fields is changed in the red order only. */
  readonly hasRed: boolean;
  readonly fields: ReadonlyMap<string, FieldKind>;
}

const INSERT = 'insert';

/** The effects that exist on the tables of a service. */
export class EffectValidator {
  readonly #tables: ReadonlyMap<string, KnownTable>;
  /**
   * The field that was checked last: each effect is checked several times, and most are on the same
   * field as the one before.
   */
  #lastTable: string | undefined;
  #lastField: string | undefined;
  #lastKind: FieldKind | undefined;

  constructor(tables: Tables) {
    this.#tables = new Map(
      Object.entries(tables).map(([name, { fields, removable }]) => {
        const kinds = new Map(
          Object.entries(fields).map(([field, { kind }]) => [field, FIELD_KINDS[kind]]),
        );
        const hasRed = [...kinds.values()].some(({ isRedOnly }) => isRedOnly);
        return [name, { removable, hasRed, fields: kinds }];
      }),
    );
  }

  /** Describes what is wrong, except for its color, with an effect that a generator has chosen. */
  describeChosenProblem(effect: Effect): string | undefined {
    if (!hasNames(effect)) return 'it is no object that names its table, its field and its action';
    const { table, field, action } = effect;
    if (this.#getKind(table, field)?.ownActions?.includes(action)) {
      return `only sites themselves have the '${action}' of '${table}.${field}'`;
    }
    return this.#describeCommonProblem(effect);
  }

  /**
   * Describes what is wrong with an effect from elsewhere, if anything. `isRed` is whether it
   * belongs to a red operation.
   */
  describeProblem(effect: Effect, isRed: boolean): string | undefined {
    const problem = this.#describeCommonProblem(effect);
    if (problem !== undefined || isRed || !this.requiresRed(effect)) return problem;
    const { table, field, action } = effect;
    const name = field === WHOLE_ROW ? table : `${table}.${field}`;
    return `it is blue and has the '${action}' of '${name}', which only red ones may`;
  }

  /**
   * Whether no blue operation may have this effect, because its field is changed in the red order
   * only.
   */
  requiresRed(effect: Effect): boolean {
    const { table, field } = effect;
    if (isRemoval(effect)) return this.#tables.get(table)?.hasRed === true;
    return this.#getKind(table, field)?.isRedOnly === true;
  }

  /** Describes a problem that does not depend on the color. */
  #describeCommonProblem(effect: Effect): string | undefined {
    const { table, field, action, value } = effect;
    if (isWholeRow(effect)) return describeRowProblem(effect, this.#tables.get(table));
    const kind = this.#getKind(table, field);
    if (kind === undefined) {
      return this.#tables.has(table)
        ? `it changes the field '${table}.${field}', which this service does not have`
        : describeMissingTable(table);
    }
    const hasAction =
      Object.hasOwn(kind.effects, action) || kind.ownActions?.includes(action) === true;
    if (!hasAction) return `'${table}.${field}' is a ${kind.name}, which has no '${action}'`;
    return kind.accepts?.(action, value) === false
      ? `'${table}.${field}' is a ${kind.name}, and not for that value`
      : undefined;
  }

  #getKind(table: string, field: string): FieldKind | undefined {
    if (table === this.#lastTable && field === this.#lastField) return this.#lastKind;
    this.#lastTable = table;
    this.#lastField = field;
    return (this.#lastKind = this.#tables.get(table)?.fields.get(field));
  }
}

function hasNames(effect: unknown): boolean {
  if (typeof effect !== 'object' || effect === null) return false;
  const { table, field, action } = effect as Partial<Effect>;
  return typeof table === 'string' && typeof field === 'string' && typeof action === 'string';
}

function describeMissingTable(table: string): string {
  return `it changes the table '${table}', which this service does not have`;
}

function describeRowProblem(effect: Effect, known: KnownTable | undefined): string | undefined {
  const { table, action } = effect;
  if (known === undefined) return describeMissingTable(table);
  if (!isRemoval(effect))
    return action === INSERT ? undefined : `rows of '${table}' have no '${action}'`;
  return known.removable ? undefined : `it removes a row of '${table}', whose rows stay`;
}
