/* Short names for what the server answers. The shapes come from schema/api/openapi.yaml through schema.ts. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type App = Schemas['App'];
export type Problem = Schemas['Problem'];
export type Range = Schemas['Range'];
export type Totals = Schemas['Totals'];
export type Point = Schemas['Point'];
export type Series = Schemas['Series'];
export type Share = Schemas['Share'];
export type Facets = Schemas['Facets'];
export type Overview = Schemas['Overview'];
export type VersionTotals = Schemas['VersionTotals'];
export type Feature = Schemas['Feature'];
export type Group = Schemas['Group'];
export type IssueList = Schemas['IssueList'];
export type Issue = Schemas['Issue'];
export type Turns = Schemas['Turns'];
export type Bin = Schemas['Bin'];
export type Distribution = Schemas['Distribution'];
export type ReportRow = Schemas['ReportRow'];
export type ReportList = Schemas['ReportList'];
export type Report = Schemas['Report'];
export type Frame = Schemas['Frame'];
export type Flame = Schemas['Flame'];
export type Memory = Schemas['Memory'];
export type MemoryCategory = Schemas['MemoryCategory'];
export type IssueMemory = Schemas['IssueMemory'];
export type CategorySpread = Schemas['CategorySpread'];
export type Healthy = Schemas['Healthy'];
export type Rate = Schemas['Rate'];
export type Rates = Schemas['Rates'];
export type RatesTotal = Schemas['RatesTotal'];
export type Role = Frame['role'];
