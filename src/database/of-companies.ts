/**
 * The condition that a joined question `q` puts on the company of a location or of another owner. Its column `ofCompanies`
 * holds ids of companies, separated by spaces, or null for any company. What it excludes is not read at all: the time that
 * reading takes would tell that it exists.
 *
 * @param company SQL that gives the id of the company
 */
export const isOfCompanies = (company: string) =>
  `(q."ofCompanies" IS NULL OR ${company} = ANY (string_to_array(q."ofCompanies", ' ')))`;
