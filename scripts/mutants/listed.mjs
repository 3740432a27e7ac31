/**
 * Lines that must not be broken unseen: each names the rule that it stands for (of docs/spec), and the command that fails
 * without it. A line is given by its text, so that it is found wherever it moves.
 */
import { BINDING_MUTANTS } from './bindings.mjs';
import { BETWEEN_SITES_MUTANTS } from './between-sites.mjs';
import { CACHE_MUTANTS } from './cache.mjs';
import { CACHE_RARE_MUTANTS } from './cache-rare.mjs';
import { CASSANDRA_MUTANTS } from './cassandra.mjs';
import { CASE_STUDY_MUTANTS } from './case-studies.mjs';
import { CORE_MADE_MUTANTS } from './core-made.mjs';
import { CORE_POLICY_MUTANTS } from './core-policies.mjs';
import { CORE_MUTANTS } from './core.mjs';
import { LABEL_MUTANTS } from './label.mjs';
import { LABEL_SEARCH_MUTANTS } from './label-search.mjs';
import { ONCE_MUTANTS } from './once.mjs';
import { RED_REQUEST_MUTANTS } from './red-requests.mjs';
import { REDBLUE_MUTANTS } from './redblue.mjs';
import { REFUSAL_MUTANTS } from './refusals.mjs';
import { RIGHTS_MUTANTS } from './rights.mjs';
import { RIGHTS_IN_RED_MUTANTS } from './rights-in-red.mjs';
import { RIGHTS_SHARED_MUTANTS } from './rights-shared.mjs';
import { SAMPLED_MUTANTS } from './sampled.mjs';
import { SERVICE_MUTANTS } from './service.mjs';
import { STATE_MUTANTS } from './state.mjs';
import { STORAGE_MUTANTS } from './storage.mjs';
import { TESTING_MUTANTS } from './testing.mjs';
import { WIRE_MUTANTS } from './wire.mjs';
import { ZOOKEEPER_MUTANTS } from './zookeeper.mjs';

/** @typedef {{ name: string, rule: string, file: string, line: string, replacement: string, command: string[] }} Mutant */

/** @type {readonly Mutant[]} */
export const MUTANTS = [
  ...BINDING_MUTANTS,
  ...CASSANDRA_MUTANTS,
  ...CORE_MUTANTS,
  ...CORE_MADE_MUTANTS,
  ...CORE_POLICY_MUTANTS,
  ...REDBLUE_MUTANTS,
  ...RED_REQUEST_MUTANTS,
  ...ONCE_MUTANTS,
  ...REFUSAL_MUTANTS,
  ...BETWEEN_SITES_MUTANTS,
  ...RIGHTS_MUTANTS,
  ...RIGHTS_IN_RED_MUTANTS,
  ...RIGHTS_SHARED_MUTANTS,
  ...SERVICE_MUTANTS,
  ...LABEL_MUTANTS,
  ...LABEL_SEARCH_MUTANTS,
  ...STATE_MUTANTS,
  ...STORAGE_MUTANTS,
  ...TESTING_MUTANTS,
  ...WIRE_MUTANTS,
  ...CACHE_MUTANTS,
  ...CASE_STUDY_MUTANTS,
  ...SAMPLED_MUTANTS,
  ...ZOOKEEPER_MUTANTS,
  ...CACHE_RARE_MUTANTS,
];
