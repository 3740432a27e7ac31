/** Checks what a site finds at its start: a newer version may have written what this one would drop, or end at. */
import type { RecoveredState } from '../log/recovered-state.ts';
import { describeEffectsProblem } from '../messages/validate-content.ts';
import type { DeploymentVersion } from '../records/deployment-version.ts';
import type { Effect } from '../records/effect.ts';
import type { LocalEntry } from '../records/records.ts';
import { EffectValidator } from '../service/effect-validator.ts';
import type { Tables } from '../service/tables.ts';
import { findRecordProblem } from './activation.ts';

/** Why what was found needs a newer version, if so. */
export function findStoredProblem(
  { local, red }: Pick<RecoveredState, 'local' | 'red'>,
  tables: Tables,
  own: DeploymentVersion | undefined,
): string | undefined {
  const known = new EffectValidator(tables);
  for (const entry of local.entries) {
    const problem = findEntryProblem(entry, known);
    if (problem !== undefined) return problem;
  }
  for (const { record } of red.entries) {
    const effects = record.kind === 'operation' ? record.effects : [];
    const problem = findRecordProblem(record, own) ?? describeEffects(effects, true, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findEntryProblem(entry: LocalEntry, known: EffectValidator): string | undefined {
  switch (entry.kind) {
    case 'blue':
      return describeEffects(entry.operation.effects, false, known);
    case 'slot':
    case 'expire':
    case 'delivered':
    case 'term':
      return undefined;
    default:
      return `its log has an entry of the kind '${(entry as LocalEntry).kind}', which is not known here`;
  }
}

function describeEffects(effects: readonly Effect[], isRed: boolean, known: EffectValidator): string | undefined {
  const problem = describeEffectsProblem(effects, isRed, known);
  return problem && `of an operation in its log, ${problem}`;
}
