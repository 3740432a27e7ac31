/** The case studies by name. Each is loaded when it is asked for. */
import type { CaseStudy } from './case-study.ts';

export const STUDIES = ['tpcw'] as const;
export type StudyName = (typeof STUDIES)[number];

export async function studyOf(name: StudyName): Promise<CaseStudy> {
  switch (name) {
    case 'tpcw':
      return (await import('./tpcw/study.ts')).study;
  }
}
