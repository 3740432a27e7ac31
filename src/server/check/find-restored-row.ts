/**
 * Finds rows that come back: one site writes to a row while another one removes it. A removal
 * deletes only what was written before it (RedBlue, OSDI 2012, Figure 7), so a later write brings
 * the row back. That is intended if the write creates the row again, for example a line of a cart.
 * So a row is reported only if it has lost fields that the write does not set.
 */
import {
  type RowName,
  type Color,
  type Effect,
  createRemoveEffect,
  isRemoval,
  isWholeRow,
} from '../service/records/effect.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { AnalysisSite, HERE, StampGenerator, type StampedShadow } from './analysis-site.ts';
import { getChoice, type Step } from './interleaving.ts';
import type { SearchContext } from './search-context.ts';

/** A shadow operation with the step that chose it. */
export interface ChosenStep {
  readonly step: Step;
  readonly shadow: string;
  readonly color: Color;
  readonly effects: readonly Effect[];
}

/** Two sites that have diverged, and have then seen each other's operations. */
export interface MetSites {
  readonly context: SearchContext;
  readonly common: readonly StampedShadow[];
  /** Creates stamps that are later than all that both sites have seen. */
  readonly stamps: StampGenerator;
  readonly here: ChosenStep;
  readonly there: readonly ChosenStep[];
  readonly merged: AnalysisSite;
}

/** A write that brings back a row which another operation removes. */
export interface RestoredRow {
  readonly writer: ChosenStep;
  readonly remover: ChosenStep;
  readonly table: string;
  /** Fields that the row had, and has lost. */
  readonly lostFields: readonly string[];
}

export function findRestoredRow(sites: MetSites): RestoredRow | undefined {
  const { here, there, common, context } = sites;
  const both = [here, ...there];
  // Return early, because most operations remove nothing.
  if (!both.some(({ effects }) => effects.some(isRemoval))) return undefined;
  const before = new AnalysisSite(context, common);
  for (const other of there) {
    const found =
      findBetween(sites, before, here, other) ?? findBetween(sites, before, other, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findBetween(
  sites: MetSites,
  before: AnalysisSite,
  writer: ChosenStep,
  remover: ChosenStep,
): RestoredRow | undefined {
  // Of two red operations, the later one in their order has seen the earlier one.
  if (writer.color === 'red' && remover.color === 'red') return undefined;
  for (const { table, key } of remover.effects.filter(isRemoval)) {
    const row = { table, key };
    if (!before.store.has(table, key) || !sites.merged.store.has(table, key)) continue;
    if (!writesRow(writer, row) || isMadeAnew(sites, remover, row)) continue;
    const lostFields = findLostFields(sites, before, writer, row);
    if (lostFields.length > 0 || !writesWithoutRow(sites, writer, row))
      return { writer, remover, table, lostFields };
  }
  return undefined;
}

/** Returns whether the operation writes to the row and does not remove it. */
function writesRow({ effects }: { readonly effects: readonly Effect[] }, row: RowName): boolean {
  const own = effects.filter((effect) => isOn(effect, row));
  return own.length > 0 && !own.some(isRemoval);
}

/**
 * Returns whether the site that removed the row also writes to it, and so creates a row with the
 * same key itself.
 */
function isMadeAnew({ here, there }: MetSites, remover: ChosenStep, row: RowName): boolean {
  const ofSite = remover === here ? [here] : there;
  const effects = ofSite.flatMap((operation) => operation.effects);
  return effects.some((effect) => isOn(effect, row) && !isRemoval(effect));
}

function findLostFields(
  { context, merged }: MetSites,
  before: AnalysisSite,
  writer: ChosenStep,
  { table, key }: RowName,
): string[] {
  const written = new Set(
    writer.effects.filter((effect) => isOn(effect, { table, key })).map(({ field }) => field),
  );
  const empty = new AnalysisSite(context).readRow(table, key);
  const [had, has] = [before.readRow(table, key), merged.readRow(table, key)];
  return Object.keys(had).filter(
    (field) =>
      !written.has(field) &&
      !structurallyEqual(had[field], empty[field]) &&
      structurallyEqual(has[field], empty[field]),
  );
}

/** Returns whether the same operation writes to the row even if the row does not exist. */
function writesWithoutRow(
  { context, common, stamps }: MetSites,
  { step }: ChosenStep,
  { table, key }: RowName,
): boolean {
  const site = new AnalysisSite(context, common);
  const stamp = new StampGenerator(stamps).next(HERE, true);
  site.apply({ effects: [createRemoveEffect(table, key)], stamp });
  const choice = getChoice(site.run(step));
  return choice !== undefined && writesRow(choice, { table, key });
}

function isOn(effect: Effect, { table, key }: RowName): boolean {
  return effect.table === table && effect.key === key;
}

/** Returns the fields of the row that an operation sets, for a message. */
export function getWrittenFields({ writer, table }: RestoredRow): readonly string[] {
  const fields = writer.effects
    .filter((effect) => effect.table === table && !isWholeRow(effect))
    .map(({ field }) => field);
  return [...new Set(fields)].toSorted();
}
