/** Quoddy as a case study. */
import { defineService, type Service } from 'correctables/server';
import { auditAll, auditPages } from '../audit.ts';
import type { CaseStudy } from '../case-study.ts';
import { thinkMs } from '../think-time.ts';
import { quoddyStudy } from './contract.ts';
import { populate } from './data.ts';
import { loadGenerators, studyShadows } from './load.ts';
import { mixes } from './mixes.ts';
import { enter } from './requests.ts';
import { generators } from './service.ts';
import { bonds, invariants, tables } from './tables.ts';

/**
 * The service beside what loads and looks at its data: all rows together at the end, since it would
 * take long before.
 */
const service: Service = defineService(quoddyStudy, {
  tables,
  shadowOperations: studyShadows,
  generators: {
    ...generators,
    ...loadGenerators,
    audit: auditPages({ tables, invariants, bonds }),
  },
  invariants,
});

export const study: CaseStudy = {
  name: 'quoddy',
  about: 'a social network, the open-source Quoddy',
  service,
  arbitraries: {},
  apart: ['load', 'audit'],
  mixes,
  populate,
  enter,
  thinkMs,
  audit: (store) => auditAll(service, quoddyStudy.audit, store),
};
