-- Settings: a row for each, written by compare-and-set, and a row for each change (setting.ts).
CREATE TABLE triarch.settings (
  name     text COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  at       bigint NOT NULL,
  state    text NOT NULL
);

CREATE TABLE triarch.setting_changes (
  name     text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  change   text NOT NULL,
  PRIMARY KEY (name, revision)
);
