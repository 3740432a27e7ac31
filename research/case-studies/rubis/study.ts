/** RUBiS as a case study. */
import { defineService, type Service } from 'correctables/server';
import type { Arbitraries } from 'correctables/testing';
import { auditAll, auditPages } from '../audit.ts';
import type { CaseStudy } from '../case-study.ts';
import { thinkMs } from '../think-time.ts';
import { rubisStudy } from './contract.ts';
import { populate } from './data.ts';
import { loadGenerators, studyShadows } from './load.ts';
import { mixes } from './mixes.ts';
import { enter } from './requests.ts';
import { arbitraries, generators } from './service.ts';
import { bonds, invariants, tables } from './tables.ts';

/**
 * The service beside what loads and looks at its data: all rows together at the end, since it would
 * take long before.
 */
const service: Service = defineService(rubisStudy, {
  tables,
  shadowOperations: studyShadows,
  generators: {
    ...generators,
    ...loadGenerators,
    audit: auditPages({ tables, invariants, bonds }),
  },
  invariants,
});

const PROFILE = {
  password: '',
  firstName: '',
  lastName: '',
  email: '',
  region: 'a',
  registeredAt: 0,
};
const PRICES = { initialPrice: 1, reservePrice: 0, buyNow: 3 };
const THING = {
  name: 'a',
  description: '',
  seller: 'a',
  category: 'a',
  region: 'a',
  startsAt: 0,
  ...PRICES,
};

/** Something to load that no other operation of the run loads, but for its nickname. */
const load: Arbitraries[string] = ({ pick, between, unique }) => ({
  categories: [{ id: 'a', name: 'a' }],
  regions: [],
  users: [
    { user: unique, profile: { ...PROFILE, nickname: pick(['a', 'b', unique]) }, comments: [] },
  ],
  items: [
    {
      item: unique,
      about: { ...THING, quantity: between(1, 3) },
      endsAt: 4_102_444_800_000,
      bids: [],
    },
  ],
});

export const study: CaseStudy = {
  name: 'rubis',
  about: 'auctions, the benchmark RUBiS',
  service,
  arbitraries: { ...arbitraries, load },
  apart: ['load', 'audit'],
  mixes,
  populate,
  enter,
  thinkMs,
  audit: (store) => auditAll(service, rubisStudy.audit, store),
};
