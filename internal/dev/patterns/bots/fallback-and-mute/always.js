return true;
