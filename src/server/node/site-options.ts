/** The options that a site has in every kind of deployment. */
import {
  amount,
  callback,
  integer,
  nested,
  optional,
  trueOrFalse,
  type OptionsOf,
} from '../../correctable/options.ts';
import { GENERATOR_LIMITS, type GeneratorLimits } from '../service/generator/generator-budget.ts';

export const GENERATOR_OPTIONS = {
  maxSteps: optional(integer(), GENERATOR_LIMITS.maxSteps),
  maxEffects: optional(integer(), GENERATOR_LIMITS.maxEffects),
  timeoutMs: optional(integer(), GENERATOR_LIMITS.timeoutMs),
  determinismCheckRate: optional(amount({ max: 1 }), GENERATOR_LIMITS.determinismCheckRate),
} satisfies OptionsOf<GeneratorLimits>;

export const SITE_OPTIONS = {
  maxAttempts: optional(integer(), 10),
  maxInFlight: optional(integer(), 100_000),
  maxRedInFlight: optional(integer()),
  siteTimeoutMs: optional(integer(), 5000),
  maxClockSkewMs: optional(integer(), 10_000),
  maxBacklogEntries: optional(integer(), 1_000_000),
  memoryBytes: optional(integer()),
  cacheBytes: optional(integer()),
  onAlarm: optional(callback),
  checkInvariants: optional(trueOrFalse),
  checkColors: optional(trueOrFalse),
  generators: optional(nested('{ generators: { maxSteps: 100_000 } }', GENERATOR_OPTIONS)),
};
