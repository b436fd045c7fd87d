-- Format 1. The store replaces SCHEMA by the quoted name of its schema.
--
-- Each collection has three tables. N is its number in _collections:
--
--   _dN  documents by position, with the key of their _id
--   _kN  entries of plain indexes: the index's number, the key, the document's position
--   _uN  entries of unique indexes
--
-- It also has a view of its documents as JSON.

CREATE TABLE SCHEMA._format(version int NOT NULL);
INSERT INTO SCHEMA._format VALUES(1);

-- indexes is the description of the collection's indexes. v is its version.
CREATE TABLE SCHEMA._collections(
	n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL UNIQUE,
	v bigint NOT NULL DEFAULT 1,
	indexes json NOT NULL DEFAULT '[]'
);

-- _stale aborts a write that is based on an outdated description.
CREATE FUNCTION SCHEMA._stale() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the indexes have changed' USING ERRCODE = 'BOTCV';
END $$;

-- _describe replaces the description of version was.
CREATE FUNCTION SCHEMA._describe(collection int, was bigint, description json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE SCHEMA._collections SET v = v + 1, indexes = description WHERE n = collection AND v = was;
	IF NOT FOUND THEN
		PERFORM SCHEMA._stale();
	END IF;
END $$;

-- The functions below convert documents to JSON.

CREATE FUNCTION SCHEMA._uvarint(doc bytea, at int, OUT n bigint, OUT next int) LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	b int;
	shift int := 0;
BEGIN
	n := 0;
	next := at;
	LOOP
		b := get_byte(doc, next);
		next := next + 1;
		n := n | ((b & 127)::bigint << shift);
		EXIT WHEN b < 128;
		shift := shift + 7;
	END LOOP;
END $$;

CREATE FUNCTION SCHEMA._varint(doc bytea, at int, OUT n bigint, OUT next int) LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	SELECT u.n, u.next INTO n, next FROM SCHEMA._uvarint(doc, at) u;
	n := ((n >> 1) & 9223372036854775807) # (-(n & 1));
END $$;

CREATE FUNCTION SCHEMA._text(doc bytea, at int, OUT value text, OUT next int) LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	size bigint;
	part bytea;
	nul int;
BEGIN
	SELECT u.n, u.next INTO size, next FROM SCHEMA._uvarint(doc, at) u;
	part := substring(doc FROM next + 1 FOR size::int);
	next := next + size::int;
	value := '"';
	LOOP -- The type text cannot contain NUL.
		nul := position('\x00'::bytea IN part);
		EXIT WHEN nul = 0;
		value := value || btrim(to_json(convert_from(substring(part FROM 1 FOR nul - 1), 'UTF8'))::text, '"') || '\u0000';
		part := substring(part FROM nul + 1);
	END LOOP;
	value := value || substring(to_json(convert_from(part, 'UTF8'))::text FROM 2);
END $$;

CREATE FUNCTION SCHEMA._float(doc bytea, at int) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	bits bigint := 0;
	exponent int;
	fraction bigint;
	sign text := '';
BEGIN
	FOR i IN 0..7 LOOP
		bits := bits | (get_byte(doc, at + i)::bigint << (8 * i));
	END LOOP;
	IF bits < 0 THEN
		sign := '-';
	END IF;
	exponent := ((bits >> 52) & 2047)::int;
	fraction := bits & 4503599627370495;
	IF exponent = 2047 AND fraction <> 0 THEN
		RETURN '"NaN"';
	ELSIF exponent = 2047 THEN
		RETURN '"' || sign || 'Infinity"';
	ELSIF exponent = 0 THEN
		RETURN sign || (fraction::float8 * power(2::float8, -1074))::text;
	ELSE
		RETURN sign || ((fraction + 4503599627370496)::float8 * power(2::float8, exponent - 1075))::text;
	END IF;
END $$;

CREATE FUNCTION SCHEMA._time(milliseconds bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
	SELECT CASE WHEN milliseconds BETWEEN -62135596800000 AND 253402300799999 THEN
		to_char(timestamp '1970-01-01' + make_interval(days => (milliseconds / 86400000)::int) +
			milliseconds % 86400000 * interval '1 millisecond', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""')
	ELSE milliseconds::text END
$$;

-- _value reads a value. kind is from package engine.
CREATE FUNCTION SCHEMA._value(doc bytea, kind int, at int, OUT value text, OUT next int) LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	n bigint;
	name text;
	part text;
BEGIN
	next := at;
	CASE kind
	WHEN 0 THEN
		value := 'null';
	WHEN 1 THEN
		value := 'false';
	WHEN 2 THEN
		value := 'true';
	WHEN 3 THEN
		SELECT i.n::text, i.next INTO value, next FROM SCHEMA._varint(doc, at) i;
	WHEN 4 THEN
		value := SCHEMA._float(doc, at);
		next := at + 8;
	WHEN 5 THEN
		SELECT t.value, t.next INTO value, next FROM SCHEMA._text(doc, at) t;
	WHEN 6 THEN
		SELECT SCHEMA._time(i.n), i.next INTO value, next FROM SCHEMA._varint(doc, at) i;
	WHEN 7 THEN
		SELECT u.n, u.next INTO n, next FROM SCHEMA._uvarint(doc, at) u;
		value := '[';
		FOR i IN 1..n LOOP
			SELECT v.value, v.next INTO part, next FROM SCHEMA._value(doc, get_byte(doc, next), next + 1) v;
			value := value || CASE WHEN i > 1 THEN ',' ELSE '' END || part;
		END LOOP;
		value := value || ']';
	WHEN 8 THEN
		SELECT u.n, u.next INTO n, next FROM SCHEMA._uvarint(doc, at) u;
		value := '{';
		FOR i IN 1..n LOOP
			SELECT t.value, t.next INTO name, next FROM SCHEMA._text(doc, next) t;
			SELECT v.value, v.next INTO part, next FROM SCHEMA._value(doc, get_byte(doc, next), next + 1) v;
			value := value || CASE WHEN i > 1 THEN ',' ELSE '' END || name || ':' || part;
		END LOOP;
		value := value || '}';
	END CASE;
END $$;

CREATE FUNCTION SCHEMA._json(doc bytea) RETURNS json LANGUAGE sql IMMUTABLE STRICT AS $$
	SELECT value::json FROM SCHEMA._value(doc, 8, 0)
$$;
